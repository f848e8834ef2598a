//! Number formats end to end.

use luge_landscape::{Carrier, LandscapeKind};

use crate::classroom::{Classroom, OUTSIDE, shipped};

/// Labels that each format holds exactly; the first one is theta.
#[test]
fn floats_and_sign_magnitude() {
    let tables = [
        ("float:4.3", "x,y\n-2,-13\n0.25,0.9375\n", -13.0),
        ("float:4.3", "x,y\n-2,0.15625\n0.25,-240\n", 0.15625),
        ("fix:3.2:sm", "x,y\n-2,-3.75\n0.25,0.5\n", -3.75),
        ("fix:3.2:sm", "x,y\n-2,2.25\n0.25,-1\n", 2.25),
        ("fix:3.2", "x,y\n-2,-4\n0.25,0.5\n", -4.0),
    ];
    for (format, csv, bias) in tables {
        for kind in OUTSIDE {
            for carrier in Carrier::ALL {
                let room = Classroom::new(shipped("copy_label.tm"), csv, format).on(kind, carrier);
                assert_eq!(room.proved().theta, [bias, 0.0], "{}", room.name());
            }
        }
    }
}

/// A label between two numbers is copied as it is, and read by the machine as the nearest one.
#[test]
fn labels_are_rounded_only_on_the_tape() {
    let table = [("fix:3.2", "1.3", 1.25), ("fix:3.2:sm", "-1.4", -1.5), ("float:4.3", "17.1", 18.0)];
    for (format, label, bias) in table {
        let room = Classroom::new(shipped("copy_label.tm"), &format!("x,y\n1,{label}\n2,1\n"), format);
        let lessons = room.proved();
        assert_eq!(lessons.theta, [bias, 0.0], "{}", room.name());
        assert_eq!(lessons.parameters[0].to_values().data, [label.parse().unwrap(), 1.0]);
    }
}

/// Labels that are large compared with the smallest number of their format: |y|^2 exceeds 2^53 eps.
#[test]
fn labels_far_above_the_smallest_number() {
    let tables = [
        ("fix:16.16", "x,y\n1,30000.5\n2,-1\n", 30000.5),
        ("float:5.10", "x,y\n1,-40000\n2,7\n", -40000.0),
        (
            "float:8.7",
            "x,y\n1,1267650600228229401496703205376\n2,7\n",
            1_267_650_600_228_229_401_496_703_205_376.0,
        ),
    ];
    for (format, csv, bias) in tables {
        for carrier in Carrier::ALL {
            let room =
                Classroom::new(shipped("copy_label.tm"), csv, format).on(LandscapeKind::Compact, carrier);
            assert_eq!(room.proved().theta, [bias, 0.0], "{}", room.name());
        }
    }
}
